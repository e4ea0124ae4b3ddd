"""What the programs of the tests here begin with."""

from __future__ import annotations

from collections.abc import Callable

InAProcess = Callable[..., str]

SETUP = """
import glob, json, logging, os, sys, traceback
from pathlib import Path
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from configproviders import ConfigException
from configproviders.spark import create_session, resolve_conf, resolve_options
from configproviders.testing import StaticConfigProvider

def builder():
    return SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")

def command_lines():
    return "".join(
        Path(file).read_text(errors="replace") for file in glob.glob("/proc/[0-9]*/cmdline")
        if Path(file).exists()
    )
"""
