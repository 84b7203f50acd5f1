"""The context of a tool call: its session, the user's preferences, and time by recorded clocks."""
