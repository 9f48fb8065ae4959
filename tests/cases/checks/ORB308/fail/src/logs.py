LOGS = 2

# @adr 0099
SIZE = 7
