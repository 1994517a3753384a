"""The forms a report is written in: text, JSON, and what CI systems read. One file each."""
