/* breakpoints: ends with 0 where breakpoints that can be opened count. */
#include "breakpoints_fire.h"

int main(void)
{
	return !breakpoints_fire();
}
