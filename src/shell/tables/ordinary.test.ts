/** Ordinary developer commands: nothing about them needs a person when their name is granted. */

import { describe, expect, test } from 'vitest'
import { inspectLine } from '../../../test/command-line.ts'

const table = `
git status ; git status --short --branch ; git status -sb ; git status --porcelain=v2 ; git diff ; git diff --stat
git diff --cached --name-only ; git diff --text ; git diff -U10 HEAD~1 ; git diff main...HEAD -- src/
git diff --word-diff=color ; git diff --no-ext-diff ; git diff HEAD~1 HEAD -- '*.ts'
git diff origin/main...feature/x ; git log --oneline -20 ; git log -n 5 --pretty=format:'%h %s'
git log --since='2 weeks ago' --author=me ; git log -p -S 'foo(' -- src/x.ts ; git log --follow -- path/to/file
git log --all --graph --decorate ; git log -L10,20:src/x.ts ; git log -1 --format=%B ; git log --grep='fix' -i
git log HEAD..origin/main ; git log main ^HEAD ; git log -C -M --stat ; git show HEAD ; git show HEAD:src/x.ts
git show abc123 --stat ; git show --name-only HEAD~2 ; git show stash@{0} -p ; git blame -L 10,20 src/x.ts
git blame -w -C src/x.ts ; git branch -a ; git branch -vv ; git branch --show-current ; git branch -d feat/x
git branch -m old new ; git branch --sort=-committerdate ; git branch --contains abc ; git checkout -b feat/x
git checkout main ; git checkout -- src/x.ts ; git checkout feat/x ; git switch -c feat/y ; git switch main
git switch - ; git restore src/x.ts ; git restore --staged src/x.ts ; git add -A ; git add .
git add src/x.ts src/y.ts ; git add -u ; git add -p ; git commit -m 'fix: x' ; git commit -am "feat: y"
git commit --amend --no-edit ; git commit -m 'a' -m '/etc/x is broken' ; git commit --allow-empty -m x
git commit -s -m x ; git commit -F msg.txt ; git commit --fixup=abc123 ; git commit --author='A <a@b.c>' -m x
git push ; git push origin main ; git push -u origin feat/x ; git push --tags ; git push --follow-tags ; git pull
git pull --rebase ; git pull --ff-only origin main ; git fetch --all --prune ; git fetch origin
git fetch --depth=1 origin main ; git fetch -p ; git clone https://github.com/a/b.git
git clone --depth 1 https://github.com/a/b vendor/b ; git clone git@github.com:a/b.git
git clone --recurse-submodules https://x/y ; git merge main ; git merge --no-ff feat/x -m 'merge'
git merge --abort ; git rebase main ; git rebase --continue ; git rebase --abort ; git rebase --onto main a b
git cherry-pick abc ; git cherry-pick -x abc ; git cherry-pick -n abc ; git revert HEAD --no-edit ; git stash
git stash push -m wip ; git stash pop ; git stash list ; git stash show -p ; git stash apply stash@{1}
git stash -u ; git tag v1.0.0 ; git tag -a v1 -m 'v1' ; git tag --list 'v*' ; git remote -v
git remote add origin https://github.com/a/b ; git remote get-url origin
git remote set-url origin git@github.com:a/b ; git rev-parse HEAD ; git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel ; git ls-files ; git ls-files --others --exclude-standard ; git ls-files '*.ts'
git ls-remote origin ; git ls-tree -r HEAD --name-only ; git cat-file -p HEAD ; git config user.name
git config --get remote.origin.url ; git config --list ; git config user.email a@b.c
git config --global --get user.name ; git config get user.name ; git config core.autocrlf input
git config pull.rebase true ; git config -l --show-origin ; git grep -n foo ; git grep -n 'a/b' -- src
git grep -e foo --and -e bar ; git grep -C3 foo ; git grep -A 2 -B 2 foo ; git bisect start ; git bisect good
git bisect bad HEAD ; git worktree list ; git submodule update --init --recursive ; git submodule status
git describe --tags --always ; git reflog -10 ; git reset HEAD~1 ; git reset --soft HEAD~1 ; git reset src/x.ts
git clean -n ; git shortlog -sn ; git archive -o x.tar.gz HEAD ; git apply x.patch ; git apply --check x.patch
git format-patch -1 HEAD ; git am x.patch ; git init ; git init -b main ; git rm --cached x ; git rm old.ts
git mv a.ts b.ts ; git rev-list --count HEAD ; git merge-base main HEAD ; git for-each-ref --format='%(refname)'
git check-ignore -v x ; git diff-tree --no-commit-id --name-only -r HEAD ; git --no-pager log -5
git -C packages/x status ; git -c color.ui=false log ; git -c user.name=x -c user.email=y commit -m z
git -c core.pager=cat log ; git help log ; git var GIT_EDITOR ; git symbolic-ref HEAD ; git count-objects -vH
git fsck ; git gc
cargo build ; cargo build --release ; cargo build -p foo --features a,b ; cargo test
cargo test -p foo -- --nocapture ; cargo test foo::bar -- --test-threads=1 ; cargo test --all-features --workspace
cargo test --manifest-path crates/x/Cargo.toml ; cargo check --all-targets
cargo clippy --all-targets --all-features -- -D warnings ; cargo clippy --fix --allow-dirty
cargo fmt --all -- --check ; cargo fmt ; cargo run --bin foo -- --flag x ; cargo run --release
cargo run -- -c config.toml ; cargo doc --no-deps ; cargo tree -d ; cargo update -p foo
cargo add serde --features derive ; cargo bench ; cargo clean ; cargo +nightly fmt ; cargo nextest run
cargo metadata --format-version 1 ; cargo install --path . ; cargo publish --dry-run
cargo build --target wasm32-unknown-unknown ; cargo build --message-format=json ; cargo build -j 4
cargo test --no-run ; cargo expand foo
npm test ; npm ci ; npm install ; npm i lodash ; npm install --save-dev vitest ; npm install -D @types/node
npm run build ; npm run test -- --coverage ; npm run lint -- --fix ; npm run build --workspace=packages/a
npm run dev -- --port 3000 ; npm --prefix frontend run build ; npm test -- --grep 'x' ; npm ls ; npm ls --depth=0
npm outdated ; npm audit ; npm audit fix ; npm view react version ; npm pack --dry-run ; npm version patch
npm exec -- eslint . ; npm config get registry ; npm config list ; npm start ; npm run -s build
npm pkg get version ; npm init -y ; npm why x ; npm -w packages/a test ; npm explain x
pnpm install ; pnpm install --frozen-lockfile ; pnpm -r build ; pnpm --filter web test ; pnpm --filter @a/b build
pnpm -F web dev ; pnpm test ; pnpm run build ; pnpm add -D x ; pnpm exec tsc --noEmit ; pnpm dlx create-x
pnpm lint ; pnpm why x ; pnpm typecheck ; pnpm vitest run src/x.test.ts
yarn ; yarn install ; yarn build ; yarn test --watch=false ; yarn add x ; yarn workspace a build ; yarn lint
yarn tsc --noEmit ; yarn why x
bun install ; bun run build ; bun test ; bun test src/x.test.ts ; bun run lint:fix ; bun add x
bun run src/index.ts ; bun test -t 'name' ; bun build src/index.ts --outdir dist
bunx tsc --noEmit
npx tsc --noEmit ; npx tsc -p tsconfig.json --noEmit ; npx eslint . ; npx eslint src --ext .ts,.tsx
npx eslint 'src/**/*.ts' --fix ; npx eslint -c .eslintrc.json src ; npx prettier --check .
npx prettier --write src/x.ts ; npx vitest run ; npx vitest run src/x.test.ts -t 'foo' ; npx vitest run --coverage
npx jest --coverage ; npx jest src/x.test.ts -t foo ; npx jest --config jest.config.js ; npx jest --runInBand
npx jest --reporters=default ; npx playwright test ; npx playwright test --reporter=list --project=chromium
npx -y create-vite x ; npx tsx scripts/x.ts ; npx ts-node scripts/x.ts ; npx mocha ; npx prisma generate
npx turbo run build ; npx nx test app ; npx --yes cowsay hi ; npx biome check src ; npx webpack --mode production
npx vite build ; npx esbuild src/x.ts --bundle --outfile=dist/x.js
eslint . --ext .js,.ts ; eslint --fix src ; eslint -f json . ; eslint --format stylish src ; eslint --cache .
eslint --max-warnings=0 .
tsc ; tsc --noEmit ; tsc -b ; tsc --build --force ; tsc -p packages/a ; tsc --outDir dist ; tsc --watch
prettier --check 'src/**/*.ts' ; prettier -w src
jest ; jest --watchAll=false ; jest -t 'name' ; jest --testPathPattern=src/x ; jest -i
vitest ; vitest run ; vitest --run --reporter=verbose ; vitest run --reporter=json ; vitest bench
mocha test/**/*.spec.js ; mocha --reporter dot ; mocha -g 'x' ; mocha -r ts-node/register 'test/*.ts'
python -m pytest
python3 -m pytest -q tests/
python -m pytest -x -k 'foo and not bar' ; python -m unittest discover ; python -m mypy src
python3 -m http.server 8000
python -m pip list ; python -m venv .venv
python3 scripts/build.py
python scripts/x.py --flag
python3 --version
python -V ; python manage.py test ; python setup.py build
pytest ; pytest -q ; pytest -xvs tests/test_x.py::test_y ; pytest -k 'a or b' -m 'not slow' ; pytest --tb=short
pytest --cov=src --cov-report=term-missing ; pytest --cov-report html ; pytest -n auto ; pytest --lf
pytest --co -q ; pytest --collect-only ; pytest --maxfail=1 ; pytest -p no:cacheprovider ; pytest -o log_cli=true
pytest --durations=10 ; pytest -W ignore ; pytest -rA ; pytest --ignore=tests/slow
pip install -r requirements.txt ; pip install -e . ; pip install -e '.[dev]' ; pip install requests==2.0
pip install --upgrade pip ; pip list ; pip freeze ; pip show x
pip3 install --user x
uv sync ; uv run pytest ; uv run pytest -q tests ; uv run ruff check . ; uv run mypy src ; uv add x
uv pip install -r requirements.txt ; uv lock ; uv run python scripts/x.py
poetry install ; poetry run pytest ; poetry add x
pipenv run pytest
tox ; tox -e py311
ruff check . ; ruff check --fix src ; ruff format .
black . ; black --check src
isort .
flake8 src
mypy src ; mypy --strict src ; mypy --ignore-missing-imports .
pylint src ; pylint --disable=all --enable=E src
pyright
coverage run -m pytest ; coverage report -m
go build ./... ; go build -o bin/x ./cmd/x ; go build -v -race ./...
go build -ldflags '-s -w -X main.version=1' ./... ; go test ./... ; go test -v -run TestX ./pkg/...
go test -count=1 -race ./... ; go test -coverprofile=coverage.out ./... ; go test -bench=. ./...
go test -tags=integration -timeout 30s ./... ; go vet ./... ; go fmt ./... ; go mod tidy ; go mod download
go mod graph ; go get github.com/x/y@latest ; go run . ; go run ./cmd/x --flag ; go run main.go ; go generate ./...
go list ./... ; go list -m all ; go list -f '{{.Dir}}' ./... ; go version ; go env GOPATH ; go env
go doc fmt.Println ; go install ./... ; go tool cover -func=coverage.out
gofmt -l . ; gofmt -w src ; gofmt -d x.go
golangci-lint run ; golangci-lint run --timeout 5m ./... ; golangci-lint run --fix
gotestsum --format testname
make ; make test ; make -j4 ; make -j 4 build ; make test FOO=1 ; make build VERSION=1.2.3 ; make -n test
make -s lint ; make -C sub test ; make clean all ; make V=1 ; make test ARGS='-v -run TestX' ; make help
make -f Makefile.dev test
cmake -S . -B build ; cmake -B build -DCMAKE_BUILD_TYPE=Release ; cmake --build build -j 8
cmake --build build --target test ; cmake -G Ninja -B build ; cmake -B build -DBUILD_TESTING=ON -DFOO_ENABLE_X=OFF
ctest --test-dir build --output-on-failure ; ctest -R foo -V
ninja -C build ; ninja -C build test
meson setup build ; meson compile -C build
gcc -o x x.c -Wall -O2 ; gcc -I include -Iinc -c x.c -o x.o ; gcc -std=c11 -g x.c -lm
g++ -std=c++20 x.cpp -o x
clang -fsanitize=address x.c
clang++ -O3 -march=native x.cpp
rustc --version ; rustc x.rs
rustup show
rg foo ; rg -n foo src ; rg -i 'foo|bar' --type ts ; rg -l foo -g '*.ts' ; rg -A 3 -B 3 foo ; rg --files
rg --files -g '*.rs' ; rg -t py 'def foo' ; rg -c foo ; rg -o 'a(.*)b' -r '$1' ; rg -U 'a\\nb' ; rg --hidden foo
rg -e foo -e bar src ; rg '/api/v1' src ; rg -F 'a.b(' . ; rg --json foo ; rg -w foo --no-heading
rg --no-ignore foo node_modules ; rg -N -I foo ; rg --sort path foo ; rg -uu foo
grep foo file ; grep -rn foo src ; grep -rn '/api/v1' . ; grep -rnE 'a|b' --include='*.ts' . ; grep -v '^#' x
grep -c foo x ; grep -A5 -B5 foo x ; grep -oP '(?<=a)b' x ; grep -e a -e b x ; grep -l foo *.ts ; grep -q foo x
grep -i 'x' /etc/hosts ; grep -r foo --exclude-dir=node_modules . ; grep -E '^/usr/' x ; grep -f patterns.txt x
egrep 'a|b' x
find . -name '*.ts' ; find . -type f -name '*.py' -not -path './node_modules/*' ; find src -name x -o -name y
find . -maxdepth 1 -type d ; find . -mtime -1 ; find . -size +1M ; find . -name '*.ts' -print0
find . -type f -printf '%p\\n' ; find . -path ./node_modules -prune -o -name '*.ts' -print ; find . -empty
find /usr/include -name stdio.h ; find . -name '*.ts' -exec grep -l foo {} + ; find . -newer x
find . -regex '.*\\.ts' ; find . ! -name x
sed -n '1,10p' x ; sed -n '10,20p;30q' x ; sed 's/a/b/g' x ; sed -e 's/a/b/' -e 's/c/d/' x
sed 's|/usr/bin|/bin|' x ; sed -E 's/(a)(b)/\\2\\1/' x ; sed -i 's/a/b/' x ; sed -i.bak 's/a/b/' x
sed -i '' 's/a/b/' x ; sed -i '/foo/d' x ; sed '/^$/d' x ; sed -n '/start/,/end/p' x ; sed '1d' x ; sed '$d' x
sed 's/[/]/x/' x ; sed -n '$=' x ; sed 'y/abc/xyz/' x ; sed -n 's/.*"version": "\\(.*\\)".*/\\1/p' package.json
sed '5i\\new line' x ; sed '2a hello world' x ; sed '/x/c\\replaced' x ; sed -n '/foo/{p;q}' x
sed -e :a -e '$!N;s/\\n/ /;ta' x ; sed 's/^/  /' x ; sed 's/.*/"&"/' x ; sed '1~2d' x ; sed = x ; sed -n '/a/I p' x
sed '0,/x/s//y/' x ; sed -n '1,/^}/p' x
awk '{print $1}' x ; awk -F: '{print $1}' /etc/passwd ; awk -F, 'NR>1 {sum+=$3} END {print sum}' x
awk '/foo/ {print $2}' x ; awk '/a/,/b/' x ; awk 'NR==10' x ; awk '{ if ($1 > 5) print $2 }' x
awk '$3 > 10 {print $1, $2}' x ; awk 'length > 80' x ; awk '!seen[$0]++' x ; awk -v n=5 'NR<=n' x
awk '{print NF}' x ; awk 'BEGIN{FS=","; OFS="\\t"} {print $1,$2}' x ; awk '{printf "%s\\n", $1}' x
awk '/foo|bar/ {c++} END {print c}' x ; awk '{gsub(/a|b/, "x"); print}' x ; awk '{print $1 > "/dev/stderr"}' x
awk '{ a[$1]++ } END { for (k in a) print a[k], k }' x ; awk '{print ($1 > 5 ? "a" : "b")}' x
awk '$1 == "x" || $2 == "y"' x ; awk '{ print $1 / $2 }' x ; awk -F'[/:]' '{print $2}' x
awk '{print substr($0, 1, 80)}' x ; awk 'NR>=10 && NR<=20' x ; awk '{s=$0; sub(/^[ \\t]+/, "", s); print s}' x
sort x ; sort -u x ; sort -k2 -n x ; sort -t, -k1,1 x ; sort -rn ; sort -h ; sort -V ; sort --unique
sort --key=2 x
uniq -c ; uniq -d x
cut -d: -f1 x ; cut -c1-10 x
head -20 x ; head -n 5 x
tail -5 x ; tail -n +10 x ; tail -f x.log
wc -l x ; wc -l src/*.ts
cat x ; cat x y ; cat -n x ; cat /etc/os-release ; cat package.json
ls ; ls -la ; ls -lah src ; ls src/*.ts ; ls /usr/bin ; ls -1 *.md ; ls --color=never
tree -L 2 ; tree -I node_modules
stat x ; stat -c %s x
du -sh . ; du -sh node_modules ; du -d 1
df -h
file x ; file src/x
which node
type git
date ; date +%s ; date '+%Y-%m-%d' ; date -d yesterday ; date -u ; date -I ; date --iso-8601=seconds
hostname
whoami
uname -a
pwd
env
printenv PATH
id
echo hi ; echo /etc/x
printf '%s\\n' x ; printf '%d' 5
test -f x
[ -d /etc ]
true
sleep 1
mkdir -p src/x
touch src/x.ts
cp a b ; cp -r a b ; cp -R src dist ; cp a b c d/
mv a b ; mv a.ts src/
rm x ; rm -f x.log ; rm -rf dist ; rm -rf node_modules
ln -s a b
chmod +x x.sh ; chmod 755 x.sh ; chmod 644 x ; chmod -x x ; chmod u+w x ; chmod -R u+rwX dist ; chmod a+r x
diff a b ; diff -u a b ; diff -r a b ; diff -rq a b
cmp a b
comm -23 a b
jq . x.json ; jq '.a.b' x.json ; jq -r '.[] | .name' x.json ; jq --arg x 1 '.a = $x' f.json
jq -s 'add' a.json b.json ; jq -e '.x' f ; jq '.scripts' package.json ; jq '.paths["/api/v1"]' x.json
yq '.a' x.yml ; yq -r .a x.yml
curl -s http://localhost:3000 ; curl -sS https://example.com ; curl -I https://example.com
curl -sL https://example.com ; curl -fsSL https://example.com ; curl -X POST http://localhost:3000/api -d '{"a":1}'
curl -s -o /dev/null -w '%{http_code}' http://localhost:3000 ; curl -H 'Accept: application/json' https://x
curl --head https://x ; curl -k https://localhost ; curl -v https://x ; curl -u a:b https://x
curl --max-time 5 https://x ; curl -s --retry 3 https://x ; curl -G https://x --data-urlencode 'q=a b'
curl -d 'a=b' https://x ; curl --json '{"a":1}' https://x ; curl -A 'x' https://x ; curl --compressed https://x
wget -qO- https://x ; wget -q --spider https://x ; wget https://x/y.tar.gz
tar czf x.tgz src ; tar xzf x.tgz ; tar xf x.tar -C out ; tar tzf x.tgz ; tar -czvf x.tar.gz src ; tar -xvf x.tar
tar --exclude=node_modules -czf x.tgz . ; tar -xzf x.tgz --strip-components=1 ; tar cf - src ; tar -tvf x.tar
zip -r x.zip src
unzip x.zip ; unzip -l x.zip ; unzip -o x.zip -d out
gzip x
gunzip x.gz
gzip -dc x.gz
zcat x.gz
docker ps ; docker ps -a ; docker images ; docker logs -f x ; docker logs --tail 100 x ; docker build -t x .
docker build -f Dockerfile.dev -t x . ; docker run --rm x ; docker run --rm -it -v ./src:/app x
docker run -d -p 8080:80 --name x nginx ; docker run -e A=b x env ; docker exec x ls ; docker compose up -d
docker compose down ; docker compose logs ; docker compose ps ; docker compose -f docker-compose.dev.yml up
docker inspect x ; docker stop x ; docker rm x ; docker pull x ; docker tag a b ; docker version ; docker network ls
docker volume ls
docker-compose up -d
kubectl get pods ; kubectl get pods -n x -o json ; kubectl describe pod x ; kubectl logs x -f
kubectl apply -f k8s/x.yml
helm list ; helm template x
terraform plan ; terraform fmt ; terraform validate ; terraform init ; terraform plan -var-file=x.tfvars
gh pr list ; gh pr view 12 ; gh pr view 12 --json title,body ; gh pr create --title x --body y ; gh pr create --fill
gh pr diff 12 ; gh pr checks 12 ; gh pr checkout 12 ; gh pr merge 12 --squash ; gh pr comment 12 --body 'x /etc y'
gh pr status ; gh issue list --state open ; gh issue view 5 --comments ; gh issue create --title x --body y
gh run list --limit 5 ; gh run view 123 --log-failed ; gh run watch 123 ; gh api repos/a/b/pulls
gh api repos/a/b/pulls/1/comments --paginate ; gh api graphql -f query='query { viewer { login } }'
gh repo view a/b ; gh repo view a/b --json name ; gh release list ; gh search code foo ; gh auth status
gh pr list --repo a/b --search 'is:open' ; gh workflow list
node scripts/x.js ; node dist/index.js --port 3000 ; node --version ; node -v ; node --test
node --test test/x.test.js ; node --max-old-space-size=4096 x.js ; node --check x.js
node --env-file=config.env x.js
ruby x.rb ; ruby -v
perl -v
php -v ; php x.php ; php artisan test
java -version ; java -jar target/x.jar
javac X.java ; javac -d out X.java
mvn test ; mvn -q package ; mvn clean install -DskipTests ; mvn -pl a -am test ; mvn test -Dtest=FooTest
./gradlew build ; ./gradlew test --tests Foo
gradle build -x test ; gradle tasks
bundle install ; bundle exec rspec ; bundle exec rspec spec/x_spec.rb ; bundle exec rubocop -a
rspec spec
rubocop
rails db:migrate
rake test
dotnet build ; dotnet test ; dotnet run ; dotnet test --filter X
composer install
phpunit ; phpunit --filter x
mix test
terraform output
psql -c 'select 1' ; psql -d x -c 'SELECT * FROM y' ; psql -l
sqlite3 x.db 'select * from y' ; sqlite3 x.db .tables ; sqlite3 x.db .schema ; sqlite3 -json x.db 'select 1'
sqlite3 x.db '.schema users'
mysql -e 'show tables'
redis-cli ping ; redis-cli get x ; redis-cli keys '*'
ps aux ; ps -ef
kill 123 ; kill -9 123
pkill -f node
pgrep -f node
lsof -i :3000
top -b -n 1
free -m
uptime
netstat -tlnp
ss -tlnp
ping -c 1 x
dig x
nslookup x
base64 x ; base64 -d x
md5sum x
sha256sum x
shasum -a 256 x
openssl rand -hex 16 ; openssl x509 -in cert.crt -text -noout ; openssl dgst -sha256 x
xxd x ; xxd -l 64 x
od -c x
hexdump -C x
strings x
nl x
tr a b ; tr -d '\\n'
rev x
tac x
paste a b
column -t x
seq 1 10
expr 1 + 1
basename /a/b
dirname /a/b/c
realpath x
readlink -f x
mktemp ; mktemp -d
man ls
less x
bat x ; bat -p x
fd foo ; fd -e ts ; fd -e ts foo src ; fd -H foo ; fd . src
ag foo
shellcheck x.sh ; shellcheck -x scripts/*.sh
shfmt -d .
just ; just test ; just --list
task build
mise run lint ; mise run test:integration -- -run X
pre-commit run --all-files
npx husky
systemctl status x
journalctl -u x -n 50
crontab -l
apt list --installed ; apt show x
brew list
ffprobe x.mp4
pandoc x.md -o x.html
dot -Tpng x.dot -o x.png
pdflatex x.tex
convert a.png b.jpg
identify a.png
time make
xmllint --noout x.xml
protoc --go_out=. x.proto
deno test ; deno fmt ; deno lint ; deno task build ; deno run main.ts
tokei
cloc src
wasm-pack build
trunk build
zig build
flutter test
ansible-lint
hadolint Dockerfile
yamllint .
actionlint
turbo run build --filter=web
nx run app:test
lerna run test
changeset version
tsx src/x.ts
ts-node x.ts
export FOO=bar
cd src
pushd src
popd
read x
shift
set -e ; set -euo pipefail
unset x
local x=1
declare -a x
alias ll='ls -l'
wait
exit 1
trap - EXIT
command -v node
tee out.txt ; tee -a log.txt
split -l 100 x
rsync -av a/ b/ ; rsync -az -e 'ssh -p 2222' a/ h:b/ ; rsync -a --exclude node_modules src/ dist/
nproc
locale
cal
yes
less +G x ; less -N x ; less +/foo x
diff --color=always a b ; diff --unified=5 a b
git diff --color=always ; git log --color ; git diff --ignore-all-space ; git log --no-merges
git log --name-status ; git log --oneline main.. ; git log --first-parent ; git show -s --format=%ci HEAD
git fetch origin pull/12/head:pr-12 ; git branch -r ; git tag ; git tag -n ; git log --tags --simplify-by-decoration
git log -- . ':!node_modules' ; git diff --exit-code ; git stash show stash@{0} ; git commit -v -m x
git commit --signoff -m x
tar --list -f x.tar ; tar --extract --file x.tar ; pip install --pre x ; pip install --upgrade x ; rsync -a --backup a b
php -l a.php ; php -d memory_limit=-1 a.php ; df -h / ; aws logs tail /aws/lambda/x ; aws s3 cp a s3://b/c ; du -sh *
git commit -m "-n is documented" ; grep -- '-o' x ; grep -e '-x' x ; rg -- '--pre' src ; rg -e '-foo' src
cut -d/ -f1-3 x ; sort -t/ -k2 x ; awk -F/ '{print $2}' x ; curl -s http://h --data-urlencode 'q=a@b'
gpg --verify a.sig a ; gpg --list-keys ; install --strip a b ; go tool cover -html=c.out ; gh pr list -s open
npx eslint . --format compact ; npx prettier --plugin prettier-plugin-x --check . ; npx mocha -r ts-node/register t.ts
docker logs -f x ; docker run --gpus all x ; kubectl logs -f deploy/x -c y ; terraform plan -json -input=false
sed -i '' -e 's/a/b/' f ; sed ':a;N;$!ba;s/\\n/,/g' f ; awk '/start/{f=1} f; /end/{f=0}' f ; sed -n '2{p;q}' f
`

/** What a command may read without a grant: the system's own files. */
const baseline = /^\/(usr|bin|etc|dev|lib)(\/|$)/

describe('ordinary commands', () => {
  test.each(table.trim().split(/\n| ; /))('%s', (line) => {
    const { hazards, paths } = inspectLine(line)
    expect(hazards).toEqual([])
    const outside = paths.filter(({ path }) => path === null || !`${path}/`.startsWith('/project/'))
    expect(outside.filter(({ path, access }) => access === 'write' || path === null || !baseline.test(path))).toEqual(
      [],
    )
  })
})
