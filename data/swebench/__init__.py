"""SWE-bench Verified, Lite and full as spec tables."""
