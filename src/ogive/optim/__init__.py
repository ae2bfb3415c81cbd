"""Optimizers, learning-rate schedules and gradient clipping, with PyTorch's names and numbers.

>>> from ogive import nn, optim
>>> layer = nn.Linear(2, 1)
>>> optimizer = optim.SGD(layer.parameters(), lr=0.1)
>>> layer(ogive.ones(4, 2)).square().mean().backward()
>>> optimizer.step()
"""

from __future__ import annotations

from ogive.nn.utils import clip_grad_norm_, clip_grad_value_
from ogive.optim import lr_scheduler, swa_utils
from ogive.optim.adafactor import Adafactor
from ogive.optim.adagrad import Adadelta, Adagrad, RMSprop
from ogive.optim.adam import Adam, AdamW
from ogive.optim.asgd import ASGD
from ogive.optim.lamb import LAMB
from ogive.optim.lbfgs import LBFGS
from ogive.optim.lion import Lion
from ogive.optim.muon import Muon
from ogive.optim.optimizer import Optimizer
from ogive.optim.relatives import Adamax, NAdam, RAdam
from ogive.optim.rprop import Rprop
from ogive.optim.sgd import SGD
from ogive.optim.sparse_adam import SparseAdam
from ogive.optim.steps.parameter_groups import Group

__all__ = [
    "ASGD",
    "LAMB",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Group",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "clip_grad_norm_",
    "clip_grad_value_",
    "lr_scheduler",
    "swa_utils",
]
