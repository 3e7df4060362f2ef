"""Plug-ins that give the bits of the plain loop faster."""
