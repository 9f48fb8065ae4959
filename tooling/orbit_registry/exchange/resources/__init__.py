"""Resources: documents and scripts as records; import, refresh and run."""
