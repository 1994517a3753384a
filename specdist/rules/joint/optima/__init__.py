"""The most that any lossless rule can accept of a proposal: values, or bounds of them."""
