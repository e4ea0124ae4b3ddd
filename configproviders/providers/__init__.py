"""The providers that ship: one file each, found by :mod:`configproviders.registry`."""
