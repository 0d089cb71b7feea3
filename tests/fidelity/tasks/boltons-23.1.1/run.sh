#!/bin/sh
set -e
cat /stage/part-a.txt /stage/part-b.txt
mkdir /app
tar -xzf /stage/boltons-23.1.1.tar.gz -C /app --strip-components=1
rm -r /stage
pip install --no-cache-dir pytest==8.3.4 -e /app
