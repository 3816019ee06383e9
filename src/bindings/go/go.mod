module pstat

go 1.19
