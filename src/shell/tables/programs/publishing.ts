/** Programs that publish packages, releases and data. */

import type { ProgramTable } from '../spec.ts'

export function publishingPrograms(): ProgramTable {
  return {
    lein: {
      partial: true,
      effects: `
  remote-write | deploy |  | publishes a package`,
    },
    snapcraft: {
      partial: true,
      effects: `
  remote-write | upload, push, release, promote, register, close, set-default-track |  | publishes a package`,
    },
    'conan luarocks': {
      partial: true,
      effects: `
  remote-write | upload |  | publishes a package`,
    },
    'vcpkg vsce ovsx flit': {
      partial: true,
      effects: `
  remote-write | publish |  | publishes a package`,
    },
    eas: {
      partial: true,
      effects: `
  remote-write | build, submit, update |  | changes something at another service
  remote-read  | whoami |  | reads from another service`,
    },
    'expo dagger': {
      partial: true,
      effects: `
  remote-write | publish |  | changes something at another service`,
    },
    fastlane: {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service
  remote-read  | lanes |  | reads from another service`,
    },
    'sentry-cli': {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service
  remote-read  | info, --version |  | reads from another service`,
    },
    'datadog-ci codecov twilio cap mina dokku': {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service`,
    },
    stripe: { partial: true, verbs: { at: 'another service', reads: 'listen logs' } },
    kamal: {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service
  remote-read  | config |  | reads from another service`,
    },
    twine: {
      partial: true,
      effects: `
  remote-write | upload, register |  | publishes a package`,
    },
    maturin: {
      partial: true,
      effects: `
  remote-write | publish, upload |  | publishes a package`,
    },
    pod: {
      partial: true,
      effects: `
  remote-write | trunk push |  | publishes a package`,
    },
    nuget: {
      partial: true,
      effects: `
  remote-write | push |  | publishes a package
  destructive  | delete |  | takes a package away`,
    },
    'semantic-release release-it np release-please': {
      partial: true,
      effects: `
  remote-write | * |  | publishes a release`,
    },
    'changeset standard-version': {
      partial: true,
      effects: `
  remote-write | publish |  | publishes a release`,
    },
    auto: {
      partial: true,
      effects: `
  remote-write | shipit |  | publishes a release`,
    },
    'ollama dvc': {
      partial: true,
      effects: `
  remote-read  | pull |  | downloads data
  remote-write | push |  | uploads data`,
    },
    'huggingface-cli hf': {
      partial: true,
      effects: `
  remote-read  | download |  | downloads data
  remote-write | upload |  | uploads data`,
    },
    wandb: {
      partial: true,
      effects: `
  remote-write | sync |  | uploads data`,
    },
    kaggle: {
      partial: true,
      effects: `
  remote-write | * |  | uploads data`,
    },
  }
}
