"""The web app: a REST API over the models that are loaded, and the page that uses it."""
