# For python_exec: reads through the guard, computes, and hands a table back as a file.
import csv
import cordon

lines = cordon.read("README.md").data["text"].split("\n")
with open("lengths.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["line", "length"])
    writer.writerows((number, len(line)) for number, line in enumerate(lines, 1))
max(len(line) for line in lines)
