"""The three patch types of the API that name no owner: JSON patch, JSON merge patch, strategic merge patch.

All are pure: `apply` never changes the object it is given, and the result shares with it what the patch leaves alone.
What cannot be applied is a StatusError, ready to be sent.
"""
