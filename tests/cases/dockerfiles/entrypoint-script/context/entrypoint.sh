#!/bin/sh
service postgresql start
exec "$@"
