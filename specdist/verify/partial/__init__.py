"""Steps of which some rows are known in part: from rows to proven intervals."""
