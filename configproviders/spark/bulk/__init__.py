"""Configs by the million as data: who refers to what, whether it resolves, and the values."""
