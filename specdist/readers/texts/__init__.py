"""Readers of recorded outputs: plain text, JSON with texts or ids, engines' answers, traces."""
