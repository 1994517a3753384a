"""Many settings over the same rows: the grid, the run, the best setting, lost floors."""
