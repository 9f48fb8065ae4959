log.info(1)
