# The web app and REST API of `weft serve`, on a CPU and without torch:
#
#   docker build --tag weft .
#   docker run --rm --publish 127.0.0.1:8080:8080 weft
#
# There is no password: publish it to loopback, as above, or put a proxy before it.

FROM python:3.11 AS build
# Not the slim image: it has a C compiler, for the faster encoder.
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY js/src js/src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
# Nothing of the build stays behind but the installed package.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/weft-*.whl)[serve]"
RUN useradd --create-home --uid 1000 weft
USER weft
WORKDIR /home/weft
EXPOSE 8080
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/health', timeout=5)"]
ENTRYPOINT ["weft"]
# Inside a container loopback is the container's own, so that nobody could reach it there.
CMD ["serve", "--host", "0.0.0.0"]
