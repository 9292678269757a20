/** Effects of package managers and publishing tools. */

export const packageEffects: string = `
remote-read  | npm install, npm i, npm ci, npm add, npm update, npm up, npm view, npm info, npm show, npm search, npm outdated, npm audit, npm ping, npm create, npm init, npm fund, npm docs, npm dist-tag ls, npm install-test, npm dedupe | | talks to a package registry
remote-write | npm publish, npm deprecate, npm dist-tag, npm owner, npm access, npm team, npm star, npm unstar, npm hook, npm token, npm profile, npm org, npm login, npm adduser, npm logout | | changes a package registry
remote-write | lein deploy, sbt publish, sbt publishSigned, sbt release, mill publish, buildah push, conan upload, vcpkg publish, vsce publish, ovsx publish | | publishes a package
remote-write | eas build, eas submit, eas update, expo publish, fastlane, sentry-cli, datadog-ci, codecov, stripe, twilio, cap, mina, kamal, dokku, dagger publish | | changes something at another service
remote-read  | stripe listen, stripe logs, stripe get, sentry-cli info, sentry-cli --version, eas whoami, fastlane lanes, kamal config | | reads from another service
destructive  | npm unpublish, pnpm unpublish | | removes a published package
local        | npm init, npm pack, npm publish, pnpm publish, bun publish, cargo publish | -y --yes --dry-run |
local        | cargo publish | -n |
remote-read  | pnpm install, pnpm i, pnpm add, pnpm update, pnpm up, pnpm outdated, pnpm audit, pnpm dlx, pnpm create, pnpm fetch, pnpm view, pnpm info, pnpm search, pnpm import | | talks to a package registry
remote-write | pnpm publish, pnpm deprecate, pnpm dist-tag, pnpm owner, pnpm access, pnpm deploy, pnpm login | | changes a package registry
remote-read  | yarn, yarn install, yarn add, yarn up, yarn upgrade, yarn outdated, yarn audit, yarn dlx, yarn create, yarn info, yarn npm audit, yarn npm info, yarn set | | talks to a package registry
remote-write | yarn publish, yarn npm publish, yarn npm tag, yarn npm login, yarn owner, yarn tag, yarn login | | changes a package registry
local        | yarn run, yarn test, yarn start, yarn build, yarn dev, yarn lint, yarn exec, yarn workspace, yarn workspaces, yarn why, yarn list, yarn config, yarn node, yarn bin, yarn --version | |
remote-read  | bun install, bun i, bun add, bun update, bun outdated, bun audit, bun create, bun upgrade, bun info | | talks to a package registry
remote-write | bun publish | | changes a package registry
remote-read  | cargo add, cargo update, cargo fetch, cargo install, cargo search, cargo info, cargo generate-lockfile, cargo vendor, cargo audit, cargo outdated, cargo binstall | | talks to a package registry
remote-write | cargo publish, cargo yank, cargo owner, cargo login, cargo release, cargo workspaces publish, cargo smart-release | | changes a package registry
remote-read  | pip install, pip download, pip wheel, pip index, pip search, pip3 install, pip3 download, pip3 wheel, pip3 index, pipx install, pipx upgrade, pipx run | | talks to a package registry
remote-read  | uv add, uv sync, uv lock, uv pip install, uv pip compile, uv pip sync, uv tool install, uv tool upgrade, uv python install, uv self | | talks to a package registry
remote-write | uv publish, twine upload, twine register, flit publish, hatch publish, pdm publish, rye publish, poetry publish, maturin publish, maturin upload | | publishes a package
remote-read  | poetry add, poetry install, poetry update, poetry lock, pdm add, pdm install, pdm update, pdm lock, pdm sync, pipenv install, pipenv update, pipenv lock, pipenv sync, rye sync, rye add, conda install, conda create, conda update, mamba install, mamba create | | talks to a package registry
remote-read  | go get, go mod download, go mod tidy, go mod vendor | | downloads modules
remote-read  | gem install, gem update, gem search, gem fetch, bundle install, bundle update, bundle add, bundle outdated, composer install, composer update, composer require, composer outdated | | talks to a package registry
remote-write | gem push, gem yank, gem owner, mix hex.publish, mix hex.retire, cabal upload, stack upload, opam publish, luarocks upload, dart pub publish, flutter pub publish, pod trunk push, dotnet nuget push, nuget push, conan upload, vsce publish, ovsx publish | | publishes a package
remote-write | semantic-release, release-it, np, changeset publish, lerna publish, goreleaser release, standard-version publish, auto shipit, release-please | | publishes a release
remote-read  | mvn dependency:get, mvn dependency:resolve, dotnet restore, dotnet add, dotnet tool | | talks to a package registry
remote-read  | apt install, apt update, apt upgrade, apt-get install, apt-get update, apt-get upgrade, brew install, brew update, brew upgrade, dnf install, yum install, apk add, pacman, snap install, flatpak install | | installs software
remote-read  | rustup update, rustup install, rustup toolchain, rustup component, rustup target | | downloads a tool chain
remote-read  | ollama pull, huggingface-cli download, hf download, dvc pull | | downloads data
remote-write | ollama push, huggingface-cli upload, hf upload, dvc push, wandb sync, kaggle | | uploads data
`
