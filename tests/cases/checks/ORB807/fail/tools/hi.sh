#!/bin/sh
echo hi
echo more
