#!/bin/sh
# Rotate the keys of one environment: tools/rotate.sh staging
set -eu
environment=${1:?name the environment}
for key in $(ls "keys/$environment"); do
    openssl genpkey -algorithm ed25519 -out "keys/$environment/$key.new" && mv "keys/$environment/$key.new" "keys/$environment/$key"
done
