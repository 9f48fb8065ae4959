print('hello')

