"""JSON, atomic files, checks of arguments, searches and text: what every package needs."""
