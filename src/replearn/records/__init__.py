"""JSON, files, text and checks of arguments: what every room needs and nobody owns."""
