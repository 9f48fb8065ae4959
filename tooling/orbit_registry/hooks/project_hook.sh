#!/bin/sh
# Shows a coding agent the records that apply to what it does; silent where orbit-registry is not on the PATH.
# Written by `orbit hook install --scope project`, the same for everybody; commit it.
tool=$(command -v orbit-registry) || exit 0
read -r first < "$tool" || exit 0
python=${first#??}
case $python in
/*/python*) "$python" -I -c 'import sys; from orbit_registry.push.client import main; main(sys.argv[1:])' "$@" ;;
esac
exit 0
