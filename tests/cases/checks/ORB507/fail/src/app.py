from redis import asyncio
