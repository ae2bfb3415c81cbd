"""Boxes: intersections over unions, encoding against anchors, suppression of the lesser ones."""

import torch
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def box_iou(one, other):
    area1 = (one[:, 2] - one[:, 0]) * (one[:, 3] - one[:, 1])
    area2 = (other[:, 2] - other[:, 0]) * (other[:, 3] - other[:, 1])
    lt = torch.max(one[:, None, :2], other[:, :2])
    rb = torch.min(one[:, None, 2:], other[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (area1[:, None] + area2 - inter)


def nms(boxes, scores, threshold):
    keep, order = [], scores.argsort(descending=True)
    while order.numel() > 0:
        i = order[0].item()
        keep.append(i)
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i : i + 1], boxes[order[1:]])[0]
        order = order[1:][iou <= threshold]
    return torch.tensor(keep)


def main(capture=lambda step: step):
    draws = Draws()
    corner = draws.uniform(8, 2) * 4
    anchors = torch.cat([corner, corner + 1 + draws.uniform(8, 2) * 3], dim=1)
    truth = anchors[:3] + draws.normal(3, 4) * 0.2
    iou = box_iou(truth, anchors)
    best, matched = iou.max(dim=0)
    matched[best < 0.3] = -1
    positive = torch.where(matched >= 0)[0]
    sizes = anchors[positive, 2:] - anchors[positive, :2]
    offsets = (truth[matched[positive]][:, :2] - anchors[positive, :2]) / sizes
    predicted = draws.normal(len(positive), 2).requires_grad_()
    loss = F.smooth_l1_loss(predicted, offsets, beta=1 / 9, reduction="sum")
    loss.backward()
    kept = nms(anchors, draws.uniform(8), 0.2)
    return {"iou": iou, "matched": matched, "loss": loss, "grad": predicted.grad, "kept": kept}


if __name__ == "__main__":
    show(main())
