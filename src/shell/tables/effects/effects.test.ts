/** What commands do beyond the box (P10). */

import { describe, expect, test } from 'vitest'
import { inspectLine, rowsOf } from '../../../../test/command-line.ts'

const table = `
local | git status
local | git commit -m x
local | git commit --amend --no-edit
local | git add -A
local | git checkout -b feat/x
local | git checkout main
loss | git checkout -- src/x.ts
loss | git restore src/x.ts
local | git restore --staged .
local | git stash
local | git stash pop
local | git branch -d x
local | git branch -m a b
local | git reset HEAD~1
local | git reset --soft HEAD~1
local | git clean -n
local | git clean -nd
local | git rebase --abort
local | git rebase --continue
local | git merge main
local | git cherry-pick x
local | git worktree remove x
local | git rm x
local | git tag v1
local | git config user.name x
local | git -C sub status
remote-read | git fetch --all
remote-read | git pull --rebase
remote-read | git clone https://github.com/a/b
remote-read | git ls-remote origin
remote-read | git push --dry-run
remote-read | git submodule update --init
remote-read | git -C sub fetch
remote-write | git push
remote-write | git push -u origin feat/x
remote-write | git push --tags
remote-write | git -C sub push origin x
remote-write | git lfs push origin
loss | rm *
loss | rm -f ./*
loss | rm src/*.ts
local | rm dist/*
local | rm *.log
local | rm -f test-*.txt
remote-write | npm publish --dry-run=false
destructive | git push --force
destructive | git push -f origin main
destructive | git push --force-with-lease
destructive | git push origin --delete x
destructive | git push origin :x
destructive | git push origin +x
destructive | git push --mirror
loss | git reset --hard
loss | git reset --hard origin/main
loss | git clean -fd
loss | git clean -fdx
loss | git clean --force
loss | git checkout .
loss | git checkout -- .
loss | git checkout -f main
loss | git restore .
loss | git restore --staged --worktree .
loss | git switch --discard-changes main
loss | git stash drop
loss | git stash clear
loss | git branch -D x
loss | git branch --delete --force x
loss | git tag -d x
loss | git rebase main
loss | git rebase -i HEAD~3
loss | git filter-branch --all
loss | git reflog expire --all
loss | git gc --prune=now
loss | git update-ref -d x
loss | git worktree remove --force x
local | rm x
local | rm -f a b
local | rm -rf node_modules
local | rm -rf dist build coverage
local | rm -rf ./dist
local | rm -rf packages/a/dist packages/b/node_modules
local | rm -rf dist/*
local | rm -rf /tmp/x
local | rm -rf /project/dist
local | rm -rf .next .turbo
local | rm -r target/debug
loss | rm -rf src
loss | rm -rf .
loss | rm -rf *
loss | rm -rf ~
loss | rm -rf /
loss | rm -rf /tmp
loss | rm -rf /tmp/*
loss | rm -rf ../dist
loss | rm -rf dist src
loss | rm -rf $x
loss | rm -fr src
loss | rm -R src
loss | rm --recursive src
loss | rm -rf /home/u/dist
loss | rm -rf dist/../src
loss | rimraf src
local | rimraf dist
loss | find . -delete
loss | find . -name x -delete
local | find . -name x
local | find . -name '*.pyc' -delete
loss | find . -name '*.pyc' -o -name x -delete
loss | find .. -name '*.pyc' -delete
destructive | shred x
destructive | dd if=x of=/dev/sda
local | dd if=a of=b
local | mv a b
local | chmod +x a
local | truncate -s 0 x
local | kill 1
destructive | mkfs.ext4 x
remote-read | gh pr list
remote-read | gh pr view 1 --json title
remote-read | gh pr diff 1
remote-read | gh pr checks 1
remote-read | gh -R a/b pr view 1
remote-read | gh pr --repo a/b view 1
remote-read | gh issue list --state open
remote-read | gh run view 1 --log
remote-read | gh api repos/a/b/pulls
remote-read | gh api -X GET repos/a/b
remote-read | gh api graphql -f query='query { viewer { login } }'
remote-read | gh api graphql -f query='{ viewer { login } }' -F n=1
remote-read | gh search code x
remote-read | gh repo clone a/b
remote-write | gh pr create --title x --body y
remote-write | gh pr merge 1
remote-write | gh pr comment 1 --body x
remote-write | gh pr close 1
remote-write | gh issue create -t x
remote-write | gh api repos/a/b/issues -f title=x
remote-write | gh api -X DELETE repos/a/b
remote-write | gh api --method POST repos/a/b
remote-write | gh api graphql -f query='mutation { x }'
remote-write | gh api graphql -f query=$x
remote-write | gh release create v1
remote-write | gh workflow run x
remote-write | gh run rerun 1
remote-write | gh secret set X
destructive | gh repo delete a/b
destructive | gh release delete v1
remote-read | glab mr list
remote-write | glab mr create
local | npm test
local | npm run build
local | npm ls
remote-read | npm install
remote-read | npm ci
remote-read | npm view x
remote-write | npm publish
remote-write | npm dist-tag add x y
remote-write | npm deprecate x y
remote-write | npm run deploy
remote-write | npm run release:prod
destructive | npm unpublish x
local | pnpm test
local | pnpm --filter web build
remote-read | pnpm install
remote-read | pnpm --filter web add x
remote-write | pnpm publish
remote-write | pnpm -r publish
remote-write | pnpm run deploy
remote-read | yarn install
remote-write | yarn npm publish
local | yarn build
remote-write | bun publish
local | bun test
remote-read | bun add x
local | cargo build
local | cargo test
remote-read | cargo add x
remote-write | cargo publish
remote-write | cargo yank x
local | go test ./...
remote-read | go get x
remote-read | go mod tidy
remote-read | pip install x
remote-read | python -m pip install x
remote-read | uv sync
remote-write | uv publish
remote-write | twine upload dist/x
remote-write | python -m twine upload dist/x
remote-write | poetry publish
local | docker ps
local | docker build -t x .
local | docker run x
remote-read | docker pull x
remote-write | docker push x
destructive | docker system prune
destructive | docker volume rm x
destructive | docker compose down -v
local | docker compose up -d
remote-read | kubectl get pods
remote-read | kubectl -n x get pods
remote-read | kubectl --context x logs y
remote-write | kubectl apply -f x.yml
remote-write | kubectl exec x -- ls
remote-write | kubectl scale x
destructive | kubectl delete pod x
destructive | kubectl -n x delete pod y
remote-read | helm list
local | helm template x
remote-write | helm upgrade x y
destructive | helm uninstall x
remote-read | terraform plan
remote-read | terraform -chdir=x plan
local | terraform fmt
remote-write | terraform apply
destructive | terraform destroy
destructive | terraform apply -destroy
destructive | terraform state rm x
remote-write | pulumi up
remote-read | aws s3 ls
remote-read | aws --profile x ec2 describe-instances
remote-read | aws s3 cp s3://a/b c
remote-read | aws sts get-caller-identity
remote-write | aws s3 cp a s3://b
remote-write | aws lambda invoke x
destructive | aws s3 rm s3://a/b
destructive | aws ec2 terminate-instances x
remote-read | gcloud compute instances list
remote-write | gcloud run deploy x
destructive | gcloud compute instances delete x
remote-read | az vm list
remote-write | vercel
remote-write | vercel deploy --prod
remote-read | vercel ls
local | vercel dev
remote-write | netlify deploy
remote-write | fly deploy
remote-read | fly status
remote-write | wrangler deploy
local | wrangler dev
remote-write | firebase deploy
remote-write | heroku run x
remote-write | cdk deploy
destructive | cdk destroy
remote-read | psql -c 'select 1'
remote-write | psql -c 'insert into x values (1)'
destructive | psql -c 'drop table x'
destructive | psql -c 'DELETE FROM x'
remote-write | psql -f x.sql
remote-read | mysql -e 'show tables'
destructive | mysql -e 'truncate x'
local | sqlite3 x.db 'select 1'
remote-read | redis-cli get x
remote-write | redis-cli set x y
destructive | redis-cli flushall
remote-write | mongosh x
remote-write | npx prisma migrate deploy
destructive | npx prisma migrate reset
remote-write | prisma db push
local | prisma generate
remote-write | npx drizzle-kit push
remote-write | alembic upgrade head
destructive | alembic downgrade -1
remote-write | bundle exec rails db:migrate
destructive | rails db:drop
remote-write | python manage.py migrate
destructive | python manage.py flush
remote-read | curl https://x
remote-read | curl -I https://x
remote-read | curl -A agent -m 5 -e ref https://x
remote-read | gh api repos/a/b --jq .x --paginate
remote-read | gh api repos/a/b -H 'Accept: x'
remote-read | curl -X GET https://x
remote-read | curl -G -d a=b https://x
remote-write | curl -X POST https://x
remote-write | curl -XDELETE https://x
remote-write | curl -d a=b https://x
remote-write | curl --json '{}' https://x
remote-write | curl -F a=b https://x
remote-write | curl -T f https://x
remote-write | curl --data-raw x https://x
remote-write | curl -X $m https://x
remote-read | wget https://x
remote-write | wget --post-data=x https://x
remote-write | ssh x ls
remote-write | scp a b:c
remote-write | rsync -a a b:c
local | rsync -a a b
loss | rsync -a --delete a b
remote-read | nc -z localhost 80
remote-write | make deploy
local | make test
remote-write | mvn deploy
local | mvn test
remote-write | ./gradlew publish
remote-write | ansible-playbook x.yml
unknown | mytool push
local | python3 -c x
local | node x.js
`

describe('effects', () => {
  test.each(rowsOf(table))('%s: %s', (expected, line) => {
    expect(inspectLine(line).effect).toBe(expected)
  })

  test('everything that asks says why', () => {
    const silent = rowsOf(table)
      .filter(([expected]) => expected === 'remote-write' || expected === 'destructive')
      .filter(([, line]) => inspectLine(line).effectNote === '')
    expect(silent).toEqual([])
  })
})
