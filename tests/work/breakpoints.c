/* SPDX-License-Identifier: MIT */
/* breakpoints: ends with 0 where there are some that count. */
#include "breakpoints_fire.h"

int main(void)
{
	return !breakpoints_fire();
}
