"""Files that engines write about one model: one format a file, recognised by content."""
