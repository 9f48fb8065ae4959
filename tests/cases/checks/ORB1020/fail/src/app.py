import psycopg
