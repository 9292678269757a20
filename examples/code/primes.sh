# For sandbox_run with language "bash": a container of its own, nothing of the project.
for n in 2 3 5 7 11; do echo "$n is prime"; done | tee primes.txt
