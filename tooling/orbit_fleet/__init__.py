"""The lake: records of many repositories as Parquet files, and questions about all of them."""

from orbit_registry.seams import Extra

extra = Extra("fleet", operations=("orbit_fleet.operations",))
