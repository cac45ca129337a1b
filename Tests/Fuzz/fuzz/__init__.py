"""Builds the targets, feeds them, and judges what comes out."""
