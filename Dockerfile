# Two images from one file. Neither holds a compiler, a test or a tool of the desk, and both run as nobody in particular.
#   docker build --target service --tag nnfleet-service .    answers phones and operators
#   docker build --target jobs --tag nnfleet-jobs .          learns; can play the demo too

ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS tools
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY deploy/build.lock deploy/extras.py deploy/
RUN python -m venv /tools && /tools/bin/pip install --require-hashes --requirement deploy/build.lock
COPY pyproject.toml requirements.lock ./

# One lock for desk and image: names come from pyproject.toml, versions and hashes from requirements.lock. Pip takes
# hashes from a constraints file from 26.1 on; what the lock does not hold is refused.
FROM tools AS service-packages
RUN python -m venv --without-pip /opt/nnfleet \
    && python deploy/extras.py service fast onnx s3 > wanted.txt \
    && /tools/bin/pip --python /opt/nnfleet install --require-hashes --constraint requirements.lock --requirement wanted.txt

FROM tools AS jobs-packages
RUN python -m venv --without-pip /opt/nnfleet \
    && python deploy/extras.py service fast litert ml onnx onnxruntime s3 sdk > wanted.txt \
    && /tools/bin/pip --python /opt/nnfleet install --require-hashes --constraint requirements.lock --requirement wanted.txt

FROM tools AS wheels
COPY . .
RUN /tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . ./client_sdk/python

FROM service-packages AS service-build
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    /tools/bin/pip --python /opt/nnfleet install --no-deps --no-index /wheels/nnfleet-*.whl

FROM jobs-packages AS jobs-build
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    /tools/bin/pip --python /opt/nnfleet install --no-deps --no-index /wheels/*.whl

FROM ${PYTHON} AS runtime
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/nnfleet nnfleet \
    && install --directory --owner nnfleet /var/lib/nnfleet/artifacts
ENV PATH=/opt/nnfleet/bin:$PATH NNFLEET_HOME=/var/lib/nnfleet PYTHONUNBUFFERED=1
WORKDIR /var/lib/nnfleet
USER 10001

FROM runtime AS jobs
COPY --from=jobs-build /opt/nnfleet /opt/nnfleet
CMD ["nnfleet", "worker"]

FROM runtime AS service
COPY --from=service-build /opt/nnfleet /opt/nnfleet
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
CMD ["nnfleet", "serve", "--host", "0.0.0.0"]
