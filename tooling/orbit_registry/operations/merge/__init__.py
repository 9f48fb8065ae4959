"""What happens where branches met: records, logs and votes merged by entry, numbers taken twice given again."""
