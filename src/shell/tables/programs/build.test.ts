/** What makes build, package and test tools more than their name says: a hazard code, or a path outside the project, for each line. */

import { describe, expect, test } from 'vitest'
import { findingsOf, rowsOf } from '../../../../test/command-line.ts'

const table = `
option-runs-program | make SHELL=/bin/x test
read:/tmp/x | make -f /tmp/x
read:/tmp/x | make --file=/tmp/x
read:/tmp | make -C /tmp
option-runs-program | make CC=./e
option-runs-program | make 'X=$(shell id)'
option-runs-program | make CFLAGS='-fplugin=x'
interpreter-code | make --eval 'x:;id'
interpreter-code | make -E 'x' --ev='x'
option-runs-program | make MAKEFLAGS=--eval=x
option-loads-code | cmake -P x.cmake
option-runs-program | cmake -E env id
option-runs-program | cmake -DCMAKE_C_COMPILER_LAUNCHER=./e .
option-runs-program | cmake -D CMAKE_CXX_COMPILER=./e .
option-loads-code | cmake -C x .
write:/etc/x | cmake -B /etc/x
read:/tmp/x | ninja -C /tmp/x
read:/tmp/x | ninja -f /tmp/x
option-reads-config | cargo --config x build
option-reads-config | cargo build --config 'build.rustc-wrapper="./e"'
option-reads-config | cargo build -Z unstable
option-reads-config | cargo test --config=target.x.runner=./e
read:/tmp/x/Cargo.toml | cargo build --manifest-path /tmp/x/Cargo.toml
read:/tmp/x/Cargo.toml | cargo build --manifest-path=/tmp/x/Cargo.toml
write:/etc/x | cargo build --target-dir /etc/x
write:/usr | cargo install --root /usr x
option-runs-program | cargo rustc -- -C linker=./e
option-runs-program | cargo doc --open
option-runs-program | go build -toolexec ./e
option-runs-program | go build --toolexec=./e
option-runs-program | go test -exec ./e
option-runs-program | go vet -vettool=./e
option-loads-code | go build -overlay x.json
write:/etc/x | go build -o /etc/x
changes-system | go env -w GOFLAGS=-toolexec=./e
option-runs-program | go build -ldflags '-extld=./e'
read:/tmp/go.mod | go build -modfile=/tmp/go.mod
option-runs-program | go run -exec ./e .
read:/tmp/x | go generate -C /tmp/x
option-runs-program | go tool compile x
read:/tmp | go test -C /tmp ./...
read:/tmp/e | npm --prefix /tmp/e test
read:/tmp/e | npm test --prefix=/tmp/e
option-runs-program | npm test --script-shell=./e
option-runs-program | npm run build --script-shell ./e
option-loads-code | npm install --node-options='--require ./e'
changes-system | npm config set script-shell ./e
changes-system | npm config set prefix /x
changes-system | npm set script-shell x
option-runs-program | npm exec -c 'id'
option-runs-program | npm exec --call='id'
changes-config | npm pkg set scripts.test=id
changes-system | npm i -g evil
option-reads-config | npm install --userconfig /tmp/x
option-runs-program | npm explore x -- id
option-changes-route | npm install --registry=http://evil
option-runs-program | npm test --git=./e
read:/tmp/e | pnpm -C /tmp/e test
read:/tmp/e | pnpm --dir=/tmp/e test
changes-system | pnpm config set script-shell x
read:/tmp/e | yarn --cwd /tmp/e test
changes-system | yarn config set x y
interpreter-code | yarn node -e x
option-loads-code | yarn plugin import ./x
option-runs-program | npx -c id
option-runs-program | npx --call=id
option-loads-code | npx -p evil x
option-loads-code | npx eslint --rulesdir ./x .
write:/etc | npx tsc --outDir /etc
option-loads-code | npx jest --globalSetup ./e.js
interpreter-code | bun -e x
option-loads-code | bun --preload ./x test
read:/tmp/x | bun --cwd /tmp/x test
option-loads-code | bun x eslint --rulesdir x .
write:/etc | pip install --target /etc x
option-changes-route | pip install -i http://evil x
option-changes-route | pip install --index-url=http://evil x
read:/tmp/x | pip install -r /tmp/x
option-changes-route | pip install --extra-index http://evil x
changes-system | pip config set global.index-url x
write:/etc | pip download -d /etc x
option-runs-program | pip install --install-option=x y
option-runs-program | pip --python ./e install x
option-changes-route | uv pip install --index-url http://evil x
interpreter-code | uv run python -c x
option-loads-code | uv run --with evil pytest
changes-system | poetry config x y
option-loads-code | pytest -p evil
read:/tmp/x.ini | pytest -c /tmp/x.ini
read:/tmp/x | pytest --rootdir=/tmp/x
read:/tmp | pytest --conf=/tmp
option-reads-config | pytest -o addopts='-p evil'
option-loads-code | pytest --pdbcls=evil:X
option-writes-file | pytest --junitxml=/etc/x
write:/home/u | pytest --basetemp=/home/u
interpreter-code | pytest --pdb
read:/tmp/x | tox -c /tmp/x
option-loads-code | eslint --rulesdir ./x .
option-loads-code | eslint --plugin ./x .
option-loads-code | eslint -f ./evil.js .
option-writes-file | eslint -o out.txt .
option-writes-file | eslint --output-file=/etc/x .
read:/tmp/x | eslint --config=/tmp/x .
option-loads-code | eslint --resolve-plugins-relative-to ./x .
option-loads-code | eslint --parser ./evil.js .
write:/other | eslint --fix ../other
write:/etc/x | tsc --outFile /etc/x
read:/tmp/x | tsc -p /tmp/x
read:/tmp/x | tsc --project=/tmp/x
option-writes-file | tsc --generateTrace out
option-loads-code | prettier --plugin=./e.js .
read:/tmp/x | prettier --config /tmp/x .
write:/home/u/.bashrc | prettier --write ~/.bashrc
read:/tmp/x | jest --config /tmp/x
option-reads-config | jest -c '{"globalSetup":"./e"}'
option-loads-code | jest --globalSetup=./e.js
option-loads-code | jest --testRunner ./e
option-loads-code | jest --reporters ./e.js
read:/tmp/x | vitest --config /tmp/x
option-loads-code | vitest run --reporter=./e.ts
option-loads-code | vitest run --globalSetup ./e.ts
option-writes-file | vitest run --outputFile=/etc/x
option-loads-code | mocha -r ./e.js
option-loads-code | mocha --require=./e
read:/tmp/x | mocha --config /tmp/x
option-loads-code | mocha --reporter ./e.js
option-runs-program | gcc -wrapper ./e,x f.c
option-loads-code | gcc -B./x f.c
option-loads-code | gcc -B /tmp f.c
option-loads-code | gcc -fplugin=./e.so f.c
option-loads-code | gcc -specs=./x f.c
option-reads-list | gcc @args
write:/etc/x | gcc -o /etc/x f.c
option-loads-code | clang -Xclang -load -Xclang ./e.so f.c
option-loads-code | clang -fpass-plugin=./e.so f.c
option-runs-program | clang -fuse-ld=/tmp/x f.c
option-loads-code | ld -plugin ./e.so x.o
interpreter-code | gdb ./x
interpreter-code | gdb -ex 'shell id'
option-writes-file | strace -o /etc/x ls
option-writes-file | strace -o '|id' ls
option-loads-code | java -javaagent:./e.jar -jar x.jar
option-loads-code | java -agentpath:./e.so X
option-runs-program | mvn exec:java
option-runs-program | mvn exec:exec -Dexec.executable=id
option-runs-program | mvn -Dexec.executable=id package
option-reads-config | mvn -s /tmp/x package
read:/tmp/x | mvn -f /tmp/x package
option-loads-code | gradle -I x.gradle build
option-loads-code | gradle --init-script=x build
read:/tmp/x | gradle -b /tmp/x build
option-runs-program | gradle -Dorg.gradle.jvmargs=-javaagent:x build
option-loads-code | ./gradlew --init-script x build
option-runs-program | nodemon --exec id
option-runs-program | concurrently id
interpreter-code | pylint --init-hook=x .
option-loads-code | pylint --load-plugins=x .
option-runs-program | mypy --python-executable ./e .
read:/tmp/x | mypy --config-file /tmp/x .
read:/tmp/x | black --config /tmp/x .
write:/other/x.py | black ../other/x.py
read:/other/x.py | black --check ../other/x.py
option-writes-file | flake8 --output-file=x .
read:/tmp | isort --settings-path /tmp x
option-runs-program | rustc -C linker=./e x.rs
read:/tmp | rustfmt --config-path /tmp x.rs
read:/tmp/x | golangci-lint run -c /tmp/x
write:/x | gofmt -w ../x
option-writes-file | gofmt -cpuprofile x f
option-runs-program | gotestsum --post-run-command id
option-runs-program | just --shell ./e x
read:/tmp/x | just -f /tmp/x y
option-runs-program | just --command id
interpreter-code | rails runner x
interpreter-code | bundle exec rake -e x
option-loads-code | stylelint --custom-formatter ./e.js x
interpreter-code | rails console
interpreter-code | bun run -e x
interpreter-code | yarn node x
`

describe('build, package and test tools: options and operands that need a person', () => {
  test.each(rowsOf(table))('%s: %s', (expected, line) => {
    expect(findingsOf(line)).toContain(expected)
  })
})
