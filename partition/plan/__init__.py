"""Candidates, yields and limits in; a checked plan with its bound out."""
