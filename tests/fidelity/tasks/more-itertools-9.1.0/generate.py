"""Writes seeds that nobody should learn the origin of."""

import json
import sys

SECRET = "sesame"
sys.stdout.write(json.dumps([ord(each) for each in SECRET]))
