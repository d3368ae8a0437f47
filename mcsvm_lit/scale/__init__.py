"""Room for what outgrows the memory of one machine; nothing stands here yet."""
