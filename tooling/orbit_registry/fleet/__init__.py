"""The lake: records of many repositories as Parquet files, and questions about all of them."""
