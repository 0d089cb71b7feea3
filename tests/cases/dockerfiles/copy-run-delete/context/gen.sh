seq 1 10
