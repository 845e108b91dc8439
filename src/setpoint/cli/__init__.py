"""Commands for people: thin, over the API that every other client uses."""
