#!/bin/sh
# Makes the namespace that Temper works in, once the server answers; harmless to repeat. Needs TEMPORAL_ADDRESS.
set -eu

tries=0
until temporal operator cluster health >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 60 ] || { echo "Temporal at $TEMPORAL_ADDRESS does not answer" >&2; exit 1; }
  sleep 2
done
temporal operator namespace describe --namespace "$TEMPER_TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPER_TEMPORAL_NAMESPACE" --retention 30d
