"""Workflows that conversations make, change and run once: `ConversationWorkflows` of the assistant's tools."""
