/** sed scripts and awk programs: what runs commands or opens files, and what only looks like it. */

import { describe, expect, test } from 'vitest'
import { awkDangers, sedDangers } from './scripts.ts'

const codes = (dangers: readonly (readonly [string, string])[]): string => dangers.map(([code]) => code).join(' ')

describe('sed', () => {
  test.each([
    ['s/a/b/', '', 'a substitution'],
    ['s/a/b/gI;s|x|y|2p', '', 'flags and other delimiters'],
    ['s/[/]e/x/', '', 'a delimiter in a class'],
    ['s/a\\/e/b/', '', 'an escaped delimiter'],
    ['/e id/d', '', 'the letter in an address'],
    ['1,/w x/p', '', 'the letter in a range'],
    ['\\,e,d', '', 'an address with its own delimiter'],
    ['a e id', '', 'appended text'],
    ['a\\\ne id', '', 'appended text on the next line'],
    ['y/ew/we/', '', 'transliteration'],
    [':e;N;be', '', 'a label'],
    ['b end;:end', '', 'a jump'],
    ['# e id', '', 'a comment'],
    ['$!{N;P;D}', '', 'a block'],
    ['w /dev/stdout', '', 'a device is not a file'],
    ['s/a/b/w /dev/stderr', '', 'a device is not a file'],
    ['2q', '', 'quit'],
    ['e id', 'script-runs-program', 'a command'],
    ['1e', 'script-runs-program', 'the pattern space as a command'],
    ['s/a/b/e', 'script-runs-program', 'the result as a command'],
    ['s/a/b/gpe', 'script-runs-program', 'among other flags'],
    ['s,a,b,e', 'script-runs-program', 'another delimiter'],
    ['s/a/b/;e id', 'script-runs-program', 'after a substitution'],
    ['/x/{s/a/b/;e id\n}', 'script-runs-program', 'in a block'],
    ['a x\ne id', 'script-runs-program', 'after appended text'],
    ['# x\ne id', 'script-runs-program', 'after a comment'],
    ['1!e id', 'script-runs-program', 'negated'],
    ['0~2e id', 'script-runs-program', 'a step address'],
    ['w out', 'script-writes-file', 'a file'],
    ['s/a/b/wout', 'script-writes-file', 'a file as a flag'],
    ['r /etc/shadow', 'script-reads-file', 'a file'],
    ['R x', 'script-reads-file', 'a line of a file'],
    ['s/a/b', 'script-unclear', 'not finished'],
    ['k', 'script-unclear', 'no command of sed'],
  ])('%j', (script, expected, note) => expect(codes(sedDangers(script)), note).toBe(expected))
})

describe('awk', () => {
  test.each([
    ['{print $1}', '', 'a field'],
    ['$3 > 10 {print $1}', '', 'a comparison as a pattern'],
    ['{ if ($1 > 5) print $2 }', '', 'a comparison in a condition'],
    ['{print ($1 > 5)}', '', 'a comparison in parentheses'],
    ['/a|b/ {print}', '', 'an alternation'],
    ['{ gsub(/x|"/, "y"); print }', '', 'a quote in a regular expression'],
    ['{print "a > b | c"}', '', 'operators in a string'],
    ['$1 == "x" || $2 == "y"', '', 'or'],
    ['{ print $1 / $2; x = 1 / 2 }', '', 'divisions'],
    ['{ print > "/dev/stderr" }', '', 'a device is not a file'],
    ['# system("id")\n{print}', 'script-runs-program', 'a comment is read all the same'],
    ['BEGIN{system("id")}', 'script-runs-program', 'a command'],
    ['BEGIN{system ("id")}', 'script-runs-program', 'with a blank'],
    ['x++ / 1; system("id") / 1', 'script-runs-program', 'a division that looks like a regular expression'],
    ['{print | "sh"}', 'script-runs-program', 'a pipe'],
    ['{print | cmd}', 'script-runs-program', 'a pipe to a variable'],
    ['{"id" | getline x}', 'script-runs-program', 'a pipe from a command'],
    ['{print |& "sh"}', 'script-runs-program', 'a coprocess'],
    ['{print > "out"}', 'script-writes-file', 'a file'],
    ['{print $1 >> "out"}', 'script-writes-file', 'an append'],
    ['{printf "%s", $0 > $1}', 'script-writes-file', 'a name from the data'],
    ['BEGIN{getline x < "/etc/x"}', 'script-reads-file', 'a file'],
    ['@load "x"', 'script-loads-code', 'an extension'],
    ['@include "x"', 'script-loads-code', 'a library'],
    ['{f = "system"; @f("id")}', 'script-runs-program', 'a call by name'],
  ])('%j', (program, expected, note) => expect(codes(awkDangers(program)), note).toBe(expected))
})
