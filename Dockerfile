# phiscan with its optional readers. Both bases are pinned by exact tag; pin them by digest where you build:
#   docker build --build-arg PYTHON=python:3.11.13-slim-bookworm@sha256:... .
ARG PYTHON=python:3.11.13-slim-bookworm

FROM ${PYTHON} AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE CHANGELOG.md ./
COPY phiscan phiscan
COPY patterns patterns
COPY dictionaries dictionaries
RUN python -m venv /opt/phiscan \
    && /opt/phiscan/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt pip hatchling \
    && /opt/phiscan/bin/pip install --no-cache-dir --disable-pip-version-check --no-build-isolation \
        -c constraints.txt ".[postgresql,smb,s3,cluster,schedule,oidc,ocr,statistics,private]"

FROM ${PYTHON}
# What scripts/install-optional.sh installs on a machine.
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        pst-utils tesseract-ocr tesseract-ocr-fra \
        mdbtools libwpd-tools libwps-tools \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 phiscan \
    && useradd --uid 10001 --gid phiscan --no-create-home --shell /usr/sbin/nologin phiscan \
    && install -d -o phiscan -g phiscan -m 0700 /var/lib/phiscan
COPY --from=build /opt/phiscan /opt/phiscan
ENV PATH=/opt/phiscan/bin:$PATH PHISCAN_HOME=/var/lib/phiscan PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /etc/phiscan
VOLUME /var/lib/phiscan
USER 10001:10001
ENTRYPOINT ["phiscan"]
CMD ["--help"]
