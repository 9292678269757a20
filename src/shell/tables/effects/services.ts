/** Effects of network, container, infrastructure, database and disk tools. */

export const serviceEffects: string = `
remote-read  | curl, wget, wget2, aria2c, http, https, xh, ping, ping6, traceroute, tracepath, mtr, dig, host, nslookup, whois, drill, nmap, ssh-keyscan, openssl s_client | | talks to another machine
remote-write | ssh, sftp, nc, ncat, netcat, socat, telnet, ftp, lftp, tftp, mosh, autossh, sshfs, ssh-copy-id, mail, mailx, sendmail, mutt, msmtp, swaks, ngrok, cloudflared, localtunnel, lt, bore, tailscale | | talks to another machine, which it can change
remote-read  | rclone ls, rclone lsd, rclone lsl, rclone lsf, rclone lsjson, rclone size, rclone cat, rclone check, rclone about | | reads remote storage
remote-write | rclone, restic, borg | | changes remote storage
destructive  | rclone delete, rclone purge, rclone sync, rclone deletefile, rclone cleanup, restic forget, restic prune, borg delete, borg prune | | deletes from remote storage
remote-read  | docker pull, docker search, docker login, podman pull, podman search, docker compose pull, docker-compose pull, nerdctl pull, skopeo inspect | | talks to a container registry
remote-write | docker push, podman push, nerdctl push, docker compose push, docker-compose push, skopeo copy, docker manifest push, docker stack deploy, docker service create, docker service update, docker swarm, docker buildx bake | | changes a container registry or a cluster
destructive  | docker system prune, docker volume rm, docker volume prune, docker volume remove, docker image prune, docker container prune, docker builder prune, podman system prune, podman volume rm, podman volume prune, docker network prune, docker service rm, docker stack rm, skopeo delete | | deletes containers, images or volumes
destructive  | docker rm, podman rm, docker container rm | -v --volumes | deletes the volumes of containers
remote-write | docker build, docker buildx build, podman build | --push | pushes an image
remote-read  | kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl explain, kubectl api-resources, kubectl api-versions, kubectl version, kubectl cluster-info, kubectl diff, kubectl auth, kubectl wait, kubectl events, kubectl rollout status, kubectl rollout history, oc get, oc describe, oc logs, oc status | | reads a cluster
remote-write | kubectl, oc | | changes a cluster
local        | kubectl config, kubectl completion, kubectl kustomize, kubectl help, kubectl plugin | |
destructive  | kubectl delete, kubectl drain, oc delete | | deletes from a cluster
destructive  | kubectl replace | --force | deletes from a cluster
remote-read  | helm list, helm ls, helm status, helm get, helm history, helm search, helm show, helm pull, helm repo, helm dependency, helm verify | | reads a cluster or a chart repository
local        | helm template, helm lint, helm version, helm create, helm package, helm completion, helm env, helm help | |
remote-write | helm | | changes a cluster
destructive  | helm uninstall, helm delete, helm un, helm del | | deletes from a cluster
remote-read  | terraform plan, terraform init, terraform refresh, terraform output, terraform show, terraform providers, terraform get, terraform state list, terraform state show, terraform state pull, terraform workspace list, terraform workspace show, tofu plan, tofu init, tofu output, tofu show, terragrunt plan, terragrunt init, terragrunt output | | reads infrastructure
local        | terraform fmt, terraform validate, terraform version, terraform graph, terraform console, terraform test, tofu fmt, tofu validate, tofu version | |
remote-write | terraform, tofu, terragrunt | | changes infrastructure
destructive  | terraform destroy, terraform state rm, terraform workspace delete, terraform force-unlock, terraform state push, tofu destroy, tofu state rm, terragrunt destroy | | deletes infrastructure or its record
destructive  | terraform apply, tofu apply, terragrunt apply | -destroy | deletes infrastructure
remote-read  | pulumi preview, pulumi stack, pulumi config, pulumi about, pulumi whoami, pulumi logs | | reads infrastructure
remote-write | pulumi up, pulumi import, pulumi refresh, pulumi cancel | | changes infrastructure
destructive  | pulumi destroy, pulumi stack rm, pulumi state delete | | deletes infrastructure
remote-write | ansible, ansible-playbook, ansible-pull, ansible-console, salt, puppet, chef-client, vagrant ssh, packer build | | runs commands on machines
remote-write | mongosh, mongo, mongorestore, mongoimport, pg_restore, createdb, createuser, mysqlimport, mysqladmin, cqlsh, clickhouse-client, influx, snowsql, bq, usql, pgcli | | changes a database
remote-read  | pg_dump, pg_dumpall, mysqldump, mongodump, mongoexport, pg_isready | | reads a database
destructive  | dropdb, dropuser, mongosh drop | | deletes a database
remote-write | prisma migrate dev, prisma migrate deploy, prisma migrate resolve, prisma db push, prisma db seed, prisma db execute | | changes a database
remote-read  | prisma db pull, prisma migrate status, prisma migrate diff | | reads a database
destructive  | prisma migrate reset | | deletes a database
destructive  | prisma db push | --force-reset --accept-data-loss | deletes data in a database
remote-write | drizzle-kit push, drizzle-kit migrate, drizzle-kit up | | changes a database
remote-read  | drizzle-kit pull, drizzle-kit introspect | | reads a database
remote-write | alembic upgrade, alembic stamp, flyway migrate, flyway baseline, flyway repair, liquibase update, dbmate up, dbmate migrate, dbmate create, goose up, goose up-by-one, goose up-to, migrate up, migrate goto, migrate force, atlas migrate apply, atlas schema apply, diesel migration run, diesel setup, sqlx migrate run, sqlx database create, sqlx database setup, sea-orm-cli migrate up | | changes a database
destructive  | alembic downgrade, flyway clean, flyway undo, liquibase rollback, liquibase drop-all, dbmate down, dbmate rollback, dbmate drop, goose down, goose down-to, goose reset, goose redo, migrate down, migrate drop, diesel migration revert, diesel migration redo, diesel database reset, sqlx database drop, sqlx database reset, sqlx migrate revert, sea-orm-cli migrate fresh, sea-orm-cli migrate reset | | deletes data in a database
remote-write | knex migrate:latest, knex migrate:up, knex seed:run, sequelize db:migrate, sequelize db:seed, sequelize db:seed:all, typeorm migration:run, typeorm schema:sync | | changes a database
destructive  | knex migrate:rollback, knex migrate:down, sequelize db:drop, sequelize db:migrate:undo, sequelize db:migrate:undo:all, typeorm schema:drop, typeorm migration:revert | | deletes data in a database
remote-write | rails db:migrate, rails db:seed, rails db:setup, rails db:create, rails db:prepare, rails db:schema:load, rake db:migrate, rake db:seed, rake db:setup, rake db:create, manage.py migrate, manage.py loaddata, manage.py createsuperuser, django-admin migrate, artisan migrate | | changes a database
destructive  | rails db:drop, rails db:reset, rails db:rollback, rails db:migrate:reset, rake db:drop, rake db:reset, rake db:rollback, manage.py flush, manage.py sqlflush, manage.py reset_db, django-admin flush, artisan migrate:fresh, artisan migrate:reset, artisan db:wipe | | deletes data in a database
remote-write | artisan migrate, artisan db:seed, console doctrine:migrations:migrate | | changes a database
destructive  | artisan migrate:fresh, artisan migrate:reset, artisan migrate:refresh, artisan migrate:rollback, artisan db:wipe, console doctrine:database:drop, console doctrine:schema:drop | | deletes data in a database
remote-write | mix ecto.migrate, mix ecto.create, mix ecto.setup | | changes a database
destructive  | mix ecto.drop, mix ecto.reset, mix ecto.rollback | | deletes data in a database
destructive  | docker compose rm, docker-compose rm | -v --volumes | deletes the volumes of containers
destructive  | shred, wipefs, mkfs, mkfs.ext4, mkfs.ext3, mkfs.xfs, mkfs.btrfs, mkfs.vfat, mke2fs, mkswap, fdisk, sfdisk, cfdisk, gdisk, sgdisk, parted, cryptsetup luksFormat, zpool destroy, zfs destroy, diskutil eraseDisk, lvremove, vgremove, pvremove, hdparm, blkdiscard | | destroys data on a disk
destructive  | shutdown, reboot, halt, poweroff | | stops the machine
destructive  | crontab | -r | deletes scheduled jobs
destructive  | userdel, deluser, groupdel | | deletes an account
`
