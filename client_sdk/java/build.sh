#!/usr/bin/env bash
# build.sh        nnfleet-client.jar: Java 8 bytecode, no dependencies. Needs a JDK.
# build.sh tests  the tests' classes too. Needs a JDK of at least 17, and JUnit 4 with Hamcrest in JUNIT_FOLDER.
# build.sh test   … and runs them.
set -euo pipefail
cd "$(dirname "$0")"
JUNIT_FOLDER=${JUNIT_FOLDER:-/usr/share/java}
JUNIT=$JUNIT_FOLDER/junit4.jar:$JUNIT_FOLDER/hamcrest-core.jar
WHAT=${1:-jar}

rm -rf build
mkdir -p build/classes build/tests
javac --release 8 -Xlint:all,-options -Werror -encoding UTF-8 -d build/classes src/main/java/io/nnfleet/client/*.java
jar --create --file build/nnfleet-client.jar -C build/classes .
[ "$WHAT" != jar ] || exit 0

javac -Xlint:all,-processing -Werror -encoding UTF-8 -cp "build/classes:$JUNIT" -d build/tests src/test/java/io/nnfleet/client/*.java
[ "$WHAT" = test ] || exit 0

tests=$(cd build/tests && find . -name '*Test.class' | sed 's|^\./||; s|\.class$||; s|/|.|g')
# shellcheck disable=SC2086  # names of classes, apart
java -Dnnfleet.vectors=../../tests/vectors -cp "build/nnfleet-client.jar:build/tests:$JUNIT" org.junit.runner.JUnitCore $tests
